// Pictures of items, and what is drawn in their place: a shape for the type in the color of the rarity.
import { html, useState } from "../ui.js";

const TONES = [
  ["consumer", ["Consumer Grade", "Base Grade"]], ["industrial", ["Industrial Grade"]],
  ["milspec", ["Mil-Spec Grade", "High Grade", "Distinguished"]], ["restricted", ["Restricted", "Remarkable", "Exceptional"]],
  ["classified", ["Classified", "Exotic", "Superior"]], ["covert", ["Covert", "Extraordinary", "Master"]], ["contraband", ["Contraband"]],
];
const TONE_OF = new Map(TONES.flatMap(([tone, rarities]) => rarities.map((rarity) => [rarity, tone])));

const SHAPES = {
  __proto__: null, // a type may have any name
  Rifle: "M4 33l17-2 4-5h37l3 3h22v-4h3v4h22v4H90v3H72l-2 5h-5l5 17h-9l-7-17h-8l-5 13h-9l3-13H23L9 51H4z",
  "Sniper Rifle": "M3 41l19-5 6-4h30l3 3h56v3H79l-3 5H58l-4 12h-9l3-12H31l-13 9H3zM40 21h36v7h-7v4h-4v-4H50v4h-4v-4h-6z",
  Pistol: "M27 21h66v5h3v12H65l-4 9H48l-7 21H21l8-26-5-5V28zM53 40l-2 4h6l2-4z",
  SMG: "M20 26h50v-4h6v4h28v5H80v6h-9l-2 4h-6l4 24H57l-4-24h-6l-5 15H31l4-15H23l-3 7H8V30h12z",
  Shotgun: "M4 38l23-8h89v4H70v3h40v5H56l-4 3H36L16 56H4z",
  Machinegun: "M4 35h15l5-6h44v-5h6v5h42v4H86v5h-8v5h-8v15H50V43h-6l-5 13h-9l4-13H21l-9 7H4zM94 40l9 24h-4l-9-24z",
  Equipment: "M26 24h50l18 6v8l-18 4H60l-3 7H47l-6 19H23l8-28-5-4z",
  Knife: "M9 65l14-14 6 6-12 13zM27 49l50-32c10-6 20-8 34-8-5 13-13 23-26 30L45 61l-7-1-4 5-11-11 5-3z",
  Gloves: "M38 72V48L28 34c-3-5 4-9 8-5l6 8V18c0-6 8-6 8 0v17h2V12c0-6 8-6 8 0v23h2V15c0-6 8-6 8 0v21h2V23c0-6 8-6 8 0v27c0 11-4 15-6 22z",
  Sticker: "M36 10h48c4 0 6 2 6 6v34H76c-4 0-6 2-6 6v14H36c-4 0-6-2-6-6V16c0-4 2-6 6-6zM88 54L74 68V56c0-1.200.8-2 2-2zM60 22l5 10 11 2-8 8 2 11-10-5-10 5 2-11-8-8 11-2z",
  "Sticker Slab": "M36 5h48v70H36zm5 5v8h38v-8zm0 14v44h38V24zm6 7h26v30H47z",
  Graffiti: "M46 28h26v46H46zM50 20h18v6H50zM55 11h8v7h-8zM75 10l13-5v5l-12 4zM77 17h13v3H77zM75 22l12 5v4l-13-6z",
  Charm: "M60 4a10 10 0 1 0 .1 0zm0 5a5 5 0 1 1-.1 0zM58 25h4v8h-4zM60 33l20 17-20 26-20-26z",
  Container: "M22 24l38-15 38 15v33L60 74 22 57zM60 32L31 22l-4 2 33 12 33-12-4-2zM58 38h4v31h-4z",
  "Music Kit": "M60 7a33 33 0 1 0 .1 0zm0 22a11 11 0 1 1-.1 0zm0 7a4 4 0 1 0 .1 0z",
  Patch: "M60 6l31 8v25c0 17-13 28-31 36-18-8-31-19-31-36V14zm0 12l6 13 14 1-11 9 4 14-13-8-13 8 4-14-11-9 14-1z",
  Agent: "M60 6c10 0 16 7 16 17S69 42 60 42 44 33 44 23 50 6 60 6zM26 75c0-19 13-29 26-29l8 8 8-8c13 0 26 10 26 29z",
  Collectible: "M60 27a24 24 0 1 1-.1 0zm0 8l4 10 11 1-8 7 3 11-10-6-10 6 3-11-8-7 11-1zM40 4h15l7 20H50zM80 4H65l-3 9 5 10z",
  Pass: "M16 22h88v11a7 7 0 0 0 0 14v11H16V47a7 7 0 0 0 0-14zM78 28v4h4v-4zm0 10v4h4v-4zm0 10v4h4v-4z",
  Key: "M36 24a17 17 0 1 0 .1 0zm-2 11a6 6 0 1 1-.1 0zM52 36h52v9h-6v10h-9V45h-6v7h-8v-7H52z",
  Gift: "M24 36h72v38H24zM20 23h80v11H20zM57 23h6v51h-6zM60 23C51 6 32 8 36 17c3 5 15 6 24 6zM60 23c9-17 28-15 24-6-3 5-15 6-24 6z",
  Tag: "M18 40l30-27h54v54H48zm27-6a6 6 0 1 0 .1 0z",
};
SHAPES.Tool = SHAPES.Tag;
const ANY_SHAPE = "M60 7l29 17v32L60 73 31 56V24zm0 10L40 29v22l20 12 20-12V29z";

/** A number that is the same for the same text, so that a finish always looks the same. */
export const paintOf = (text) => [...text].reduce((sum, letter) => (31 * sum + letter.codePointAt(0)) % 65_521, 7);

/** The name of the rarity's color, which the style sheet has. */
export const toneOf = (rarity) => TONE_OF.get(rarity) ?? "plain";

const FINISHES = ["stripes", "dots", "scales", "waves", "plain"];

/** What the placeholders are painted with; once in the page. */
export const Paints = () => html`<svg class="paints" aria-hidden="true" focusable="false"><defs>
  <linearGradient id="shine" x1="0" y1="0" x2="0.3" y2="1"><stop offset="0" stop-color="#fff" stop-opacity="0.5" /><stop offset="0.5" stop-color="#fff" stop-opacity="0" /><stop offset="1" stop-color="#000" stop-opacity="0.35" /></linearGradient>
  <pattern id="stripes" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(35)"><path d="M0 0h4v9H0z" /></pattern>
  <pattern id="dots" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(20)"><path d="M4 1.500a2.500 2.500 0 1 0 .1 0z" /></pattern>
  <pattern id="scales" width="10" height="9" patternUnits="userSpaceOnUse"><path d="M5 0l4 2v4L5 8 1 6V2z" /></pattern>
  <pattern id="waves" width="16" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(-20)"><path d="M0 4c4-5 8-5 8 0s4 5 8 0v4H0z" /></pattern>
</defs></svg>`;

function Placeholder({ type, seed }) {
  const shape = SHAPES[type] ?? ANY_SHAPE;
  const finish = FINISHES[seed % FINISHES.length];
  return html`<svg class="placeholder" viewBox="0 0 120 80" aria-hidden="true" focusable="false">
    <path d=${shape} fill-rule="evenodd" />
    ${finish !== "plain" && html`<path class="finish" d=${shape} fill-rule="evenodd" fill=${`url(#${finish})`} />`}
    <path class="finish" d=${shape} fill-rule="evenodd" fill="url(#shine)" />
  </svg>`;
}

// Hosts whose pictures did not come: offline, a hundred cards need not ask for a hundred pictures.
const failures = new Map();
const MAX_FAILURES = 3;

function hostOf(address) {
  try {
    const url = new URL(address);
    return url.protocol === "https:" ? url.host : null;
  } catch {
    return null;
  }
}

/** The picture at this address with a placeholder until it is there; its text says the name beside it already. */
export function Picture({ address, type, seed = 0, eager = false }) {
  const [loaded, setLoaded] = useState(null);
  const host = hostOf(address);
  const wanted = host !== null && (failures.get(host) ?? 0) < MAX_FAILURES && loaded !== `!${address}`;
  const failed = () => {
    failures.set(host, (failures.get(host) ?? 0) + 1);
    setLoaded(`!${address}`);
  };
  const arrived = () => {
    failures.set(host, -1e9);
    setLoaded(address);
  };
  return html`<div class="picture">
    ${(loaded === null || loaded !== address) && html`<${Placeholder} type=${type} seed=${seed} />`}
    ${wanted && html`<img key=${address} class=${loaded === address ? "" : "coming"} src=${address} alt="" decoding="async"
      loading=${eager ? "eager" : "lazy"} referrerpolicy="no-referrer" onLoad=${arrived} onError=${failed} />`}
  </div>`;
}
