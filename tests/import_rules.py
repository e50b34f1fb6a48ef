"""Which packages and folders may import which, and why no others."""

from typing import Final

# package: (the packages of ours that it may import, why no others)
MAY_IMPORT: Final[dict[str, tuple[set[str], str]]] = {
    "mappings": (set(), "it is the contract between writer and reader: what it knew of either, the other would share"),
    "store": (set(), "it is SQL alone: what an order means is decided where it is called, so a rule has one place"),
    "node": (set(), "it runs a server that others only meet over HTTP: any OpenSearch must do in its place"),
    "indexer": ({"mappings", "store"}, "it writes the index; knowing the reader would make the index's shape a secret"),
    "bench": (
        {"indexer", "mappings"},
        "it measures the services from outside, as their users meet them; only loading is measured by its parts too",
    ),
    "api": ({"mappings", "store"}, "it reads the index by its alias alone, so that a rebuild needs no API"),
}

# folder: (the packages of ours that it may import besides, why)
FOLDERS_MAY_ALSO_IMPORT: Final[dict[str, tuple[set[str], str]]] = {
    "api/catalogue": ({"indexer"}, "one set of rules for items, whichever door they come by (docs/decisions/0070)"),
}

# package: folder: (the folders beside it that it may import, why no others)
FOLDERS_MAY_IMPORT: Final[dict[str, dict[str, tuple[set[str], str]]]] = {
    "indexer": {
        "documents": (set(), "a document is a function of an item: it knows neither where it comes from nor goes to"),
        "engine": (set(), "it moves bytes to and from the index, whatever they are about"),
        "sources": ({"documents"}, "a reader gives items or refusals, and does not know who reads"),
        "sample": ({"sources"}, "it makes listings as any catalogue has them"),
        "locking": ({"engine"}, "a lock is a document in the index, the same for every command"),
        "orders": ({"engine"}, "what orders claim is bound alike after a load, a rollback and a repair"),
        "products": ({"documents", "engine"}, "products are written alike by a load and by a live change"),
        "live": ({"documents", "engine", "orders", "products", "sources"}, "a change needs no load"),
        "follow": ({"documents", "live", "sources"}, "a stream is one more way to the writer of changes"),
        "loading": (
            {"documents", "engine", "locking", "orders", "products", "sources"},
            "a load is told how to show its progress",
        ),
        "maintenance": (
            {"documents", "engine", "loading", "locking", "orders", "products"},
            "commands call it, not the reverse",
        ),
        "doctor": (
            {"engine", "locking", "maintenance", "orders", "products"},
            "it looks from outside at what the others left",
        ),
        "cli": (
            {
                "doctor",
                "documents",
                "engine",
                "follow",
                "live",
                "loading",
                "maintenance",
                "orders",
                "sample",
                "sources",
            },
            "commands call the others, not the reverse",
        ),
    },
    "api": {
        "background": (set(), "it runs work beside requests, whatever it is about"),
        "http": (set(), "it speaks HTTP and JSON for every route, whatever they are about"),
        "rate_limits": (set(), "it charges requests for their cost, which is known where the work is done"),
        "telemetry": ({"background", "engine", "http"}, "it shows what the others report, and none of them needs it"),
        "engine": (set(), "it calls the engine and checks its responses, whatever was asked"),
        "search": (
            {"background", "engine", "http", "rate_limits"},
            "a search knows no order: what is bound is in the index",
        ),
        "webhooks": ({"background"}, "callbacks are sent from the outbox, whoever filled it"),
        "orders": (
            {"background", "engine", "http", "webhooks"},
            "an order knows no search: it reads its one item by itself",
        ),
        "catalogue": (
            {"background", "http", "rate_limits"},
            "it writes items, and no other folder of the API needs them written",
        ),
        "changes": (
            {"background", "engine", "http", "search", "telemetry"},
            "a filter of the feed is a search's filter",
        ),
        "saved_searches": (
            {"background", "changes", "engine", "http", "search", "webhooks"},
            "a saved search is run on the feed, and knows no order",
        ),
        "cheapest": (
            {"http", "orders", "rate_limits", "search"},
            "it finds as a search does and orders as an order does",
        ),
        "platforms": (
            {"background", "catalogue", "changes", "cheapest", "engine", "http", "rate_limits", "search", "orders"},
            "it shows the limits of all, and none knows that page",
        ),
        "vocabulary": (
            {"background", "engine", "http", "search"},
            "it changes how texts are read, and tries that by searching",
        ),
        "operations": (
            {"background", "engine", "http", "telemetry"},
            "it shows what the others report, and none of them needs it",
        ),
        "explore": ({"http"}, "a page is one more client: it searches and orders by HTTP as others do"),
        "conform": (set(), "it knows the service by HTTP alone, as any client does"),
        "cli": (
            {"background", "conform", "engine", "http", "search", "orders", "telemetry", "vocabulary", "webhooks"},
            "commands call the service, not the reverse",
        ),
    },
    "api.search": {
        "parsing": (set(), "a text is parsed without a body or an index"),
        "schemas": ({"parsing"}, "bodies and responses are the contract: what is done with them is elsewhere"),
        "query": ({"parsing", "schemas"}, "a request is built without sending it"),
        "relaxation": ({"parsing", "query"}, "looser parses of a text, tried without a body"),
        "pagination": ({"parsing", "query", "relaxation", "schemas"}, "a part of the response"),
        "suggest": ({"parsing", "query"}, "what is suggested is counted, never a page"),
        "explain": ({"query", "relaxation", "schemas"}, "it tells of every part of a search, and no search needs it"),
        "facets": ({"query", "schemas"}, "a part of the response"),
        "prices": ({"pagination", "schemas"}, "a response of its own, as of one point in time"),
    },
    "api.orders": {
        "placing": (set(), "the rules of a new order, without what happens to it later"),
        "sandbox": (set(), "it moves sandbox orders as a fulfiller would"),
    },
    "store": {
        "connection": (set(), "it runs transactions, whatever is in them"),
        "outbox": (set(), "rows to be sent, whoever wrote them"),
        "orders": ({"connection", "outbox"}, "an order fills the outbox in its own transaction"),
        "auth": ({"connection"}, "tokens and keys know no order"),
        "saved_searches": ({"outbox"}, "a match fills the outbox in its own transaction"),
        "migrations": (set(), "each is as it was when it was written"),
    },
    "mappings": {
        "items": (set(), "an item is what it is, however it is read or written"),
        "transport": (set(), "connections know no item"),
        "vocabulary": (set(), "words are read without a connection"),
    },
    "bench": {
        "clients": (set(), "they send requests, whatever is measured"),
        "workloads": (set(), "they are data for all peers alike"),
        "peers": ({"clients", "workloads"}, "each peer is loaded and asked in its own way"),
        "relevance": ({"clients", "peers"}, "it judges pages of the same peers"),
        "runs": ({"clients", "peers", "workloads"}, "a run measures peers under a workload"),
        "report": ({"peers", "runs"}, "it shows what was measured"),
    },
    "node": {
        "machine": (set(), "it knows the machine, not what runs on it"),
        "server": ({"machine"}, "it gets the files, whoever starts them"),
        "process": ({"machine", "server"}, "a start gets the files first"),
    },
}
# module: (the modules of ours that may import it, why no others)
IMPORTED_ONLY_BY: Final[dict[str, tuple[set[str], str]]] = {
    "api.services": (
        {"api.app"},
        "it builds what all features work with, so one that knew it would know the others; each states what it needs, "
        "and gets that from the running app by its type (api/http/dependencies.py)",
    ),
}
# module: why every package may import it although it may not import the module's package
SHARED: Final = {
    "mappings.secret_files": "settings of the engine and of the store are read from files by the same rule",
    "mappings.transport.names": "the names of engines and databases are looked up by the same rule",
}
