"""The table by which folding writes letters in ASCII: each letter and its text.

It is what Lucene's `ASCIIFoldingFilter`, the engine's filter `asciifolding`, does to letters in lower case; a test asks
a real engine about every one of them.
"""

import unicodedata

from mappings.nonspacing_marks import NONSPACING_MARKS

# What Unicode decomposes these into, without marks and case, is their ASCII; no version of Unicode changes it.
_DECOMPOSED = """
àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặₐⓐａḃḅḇⓑｂçćĉċčḉⓒｃďḋḍḏḑḓⓓｄèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệₑⓔｅḟⓕｆĝğġģǧǵḡⓖｇĥȟḣḥḧḩḫẖⓗｈìíîïĩīĭ
įǐȉȋᵢḭḯỉịⁱⓘｉĵǰⓙⱼｊķǩḱḳḵⓚｋĺļľḷḹḻḽⓛｌḿṁṃⓜｍñńņňǹṅṇṉṋⁿⓝｎòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợₒⓞｏṕṗⓟｐⓠｑŕŗřȑȓᵣṙṛṝṟⓡｒśŝş
šſșṡṣṥṧṩⓢｓţťțṫṭṯṱẗⓣｔùúûüũūŭůűųưǔǖǘǚǜȕȗᵤṳṵṷṹṻụủứừửữựⓤｕᵥṽṿⓥｖŵẁẃẅẇẉẘⓦｗẋẍₓⓧｘýÿŷȳẏẙỳỵỷỹⓨｙźżžẑẓẕⓩｚǆǳﬀﬁﬂĳǉǌßﬆﬃﬄ⁰₀⓪０¹
₁①１²₂②２³₃③３⁴₄④４⁵₅⑤５⁶₆⑥６⁷₇⑦７⁸₈⑧８⁹₉⑨９⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳！＂＃＄％＆＇⁽₍（⁾₎）＊⁺₊＋，－．／：；＜⁼₌＝＞？＠［＼］＾＿
｛｝～‼⁉⒈⒉⒊⒋⒌⒍⒎⒏⒐⁈⁇⑴⑵⑶⑷⑸⑹⑺⑻⑼⒜⒝⒞⒟⒠⒡⒢⒣⒤⒥⒦⒧⒨⒩⒪⒫⒬⒭⒮⒯⒰⒱⒲⒳⒴⒵⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇
"""

# The other letters, each group after its ASCII.
_OTHERS = """
a ɐəɚᴀᶏᶕẚₔⱥ b ƀƃɓʙᴃᵬᶀ c ƈȼɕʗᴄↄꜿ d ðđƌȡɖɗᴅᴆᵭᶁᶑꝺ e ǝɇɘɛɜɝɞʚᴇᴈᶒᶓᶔⱸⱻ f ƒᵮᶂẛꜰꝼꟻ g ǥɠɡɢʛᵷᵹᶃꝿ h ħɥɦʜʮʯⱨⱶ i ıƖɨɪᴉᵻᵼᶖꟾ j ȷɉɟʄʝᴊ
k ƙʞᴋᶄⱪꝁꝃꝅ l ŀłƚȴɫɬɭʟᴌᶅⱡꝇꝉꞁ m ɯɰɱᴍᵯᶆꟽꟿ n ŉŋƞȵɲɳɴᴎᵰᶇ o øǿɔɵᴏᴐᴖᴗᶗⱺꝋꝍ p ƥᴘᵱᵽᶈꝑꝓꝕꟼ q ĸɋʠꝗꝙ r ɍɼɽɾɿʀʁᴙᴚᵲᵳᶉꝛꞃ s ȿʂᵴᶊẜẝꜱꞅ
t ŧƫƭȶʇʈᴛᵵⱦꞆ u ʉᴜᵾᶙ v ʋʌᴠᶌỼⱱⱴꝟꝨ w ƿʍᴡⱳ x ᶍ y ƴɏʎʏỿ z ƶȝȥɀʐʑᴢᵶᶎⱬꝣ aa ꜳ ae æǣǽᴁᴂ ao ꜵ au ꜷ av ꜹꜻ ay ꜽ db ȸ dz ʣʥ hv ƕ
ll ỻ ls ʪ lz ʫ oe œɶᴔ oo ꝏ ou ȣᴕ qp ȹ tc ʨ th þᵺꝧ ts ʦ tz ꜩ ue ᵫ vy ꝡ 0 ⓿ 1 ⓵❶➀➊ 2 ⓶❷➁➋ 3 ⓷❸➂➌ 4 ⓸❹➃➍ 5 ⓹❺➄➎ 6 ⓺❻➅➏
7 ⓻❼➆➐ 8 ⓼❽➇➑ 9 ⓽❾➈➒ 10 ⓾❿➉➓ 11 ⓫ 12 ⓬ 13 ⓭ 14 ⓮ 15 ⓯ 16 ⓰ 17 ⓱ 18 ⓲ 19 ⓳ 20 ⓴ " «»“”„″‶❝❞❮❯ % ⁒ ' ‘’‚‛′‵‹›❛❜ ( ❨❪
) ❩❫ * ⁎ - ‐‑‒–—⁻₋ / ⁄ ; ⁏ < ❬❰ > ❭❱ [ ⁅❲ ] ⁆❳ ^ ‸ { ❴ } ❵ ~ ⁓ (( ⸨ )) ⸩
"""


def _table() -> dict[str, str]:
    table: dict[str, str] = {}
    for letter in "".join(_DECOMPOSED.split()):
        parts = unicodedata.normalize("NFKD", letter)
        table[letter] = "".join(part for part in parts if part not in NONSPACING_MARKS).casefold()
    others = _OTHERS.split()
    for text, letters in zip(others[::2], others[1::2], strict=True):
        table |= dict.fromkeys(letters, text)
    return table


ASCII_FOLDING = _table()
