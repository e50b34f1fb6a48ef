"""Builds opensearch.yml, log4j2.properties and the command line of the server. Pure."""

import json
from pathlib import Path

from node.settings import heap_bytes

CLUSTER_NAME = "gear-node"
TRANSPORT_PORTS = "9300-9400"
"""OpenSearch takes the first free one, so that several nodes on one machine do not collide."""
FREE_DISK_TO_START = 2 * 1024**3
"""Bytes. Four times what makes OpenSearch lock its indices (see the flood stage below)."""

_SYSTEM_OPTIONS = (
    # What the server's own launcher adds (org.opensearch.tools.launchers.SystemJvmOptions, 3.6.0),
    # without -XX:+AlwaysPreTouch, which belongs to the full profile.
    "-Dopensearch.networkaddress.cache.ttl=60",
    "-Dopensearch.networkaddress.cache.negative.ttl=10",
    "-Xss1m",
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
    "-Djna.nosys=true",
    "-XX:-OmitStackTraceInFastThrow",
    "-XX:+ShowCodeDetailsInExceptionMessages",
    "-Dio.netty.noUnsafe=true",
    "-Dio.netty.noKeySetOptimization=true",
    "-Dio.netty.recycler.maxCapacityPerThread=0",
    "-Dio.netty.allocator.numDirectArenas=0",
    "-Dlog4j.shutdownHookEnabled=false",
    "-Dlog4j2.disable.jmx=true",
    # SPI first: the packaged Java runtime has no Thai segmentation, icu4j-localespi brings it.
    "-Djava.locale.providers=SPI,CLDR",
    # What config/jvm.options of 3.6.0 has for Java 25, without sizes, paths, the collector (below) and the module
    # jdk.incubator.vector, which the packaged runtime does not have.
    "-XX:+HeapDumpOnOutOfMemoryError",
    "--add-opens=java.base/java.nio=org.apache.arrow.memory.core,ALL-UNNAMED",
    "-Dorg.apache.lucene.store.MMapDirectory.sharedArenaMaxPermits=1",
    "-XX:+UseCompactObjectHeaders",
)
_PROFILES = {
    "laptop": ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    "full": (
        "-XX:+UseG1GC",
        "-XX:G1ReservePercent=25",
        "-XX:InitiatingHeapOccupancyPercent=30",
        "-XX:+AlwaysPreTouch",
    ),
}


def node_mark(home: Path) -> str:
    """The argument on the Java command line by which a process is known to run the node of this directory."""
    return f"-Dgear.node={home}"


def opensearch_yml(*, data: Path, logs: Path, snapshots: Path, port: int, jvm: str) -> str:
    """The text of opensearch.yml: one node on loopback, with the profile of `java_command`."""
    settings: dict[str, object] = {
        "cluster.name": CLUSTER_NAME,
        "node.name": CLUSTER_NAME,
        "path.data": str(data),
        "path.logs": str(logs),
        "path.repo": str(snapshots),
        "network.host": "127.0.0.1",
        "http.port": port,
        "transport.port": TRANSPORT_PORTS,
        "discovery.type": "single-node",
        # A write that comes before its alias exists must fail instead of making an index without our mapping.
        "action.auto_create_index": False,
        # Of the heap; a search takes 3 to 5 kB, and the default of 1 % holds 1,000 to 1,800 (docs/decisions/0034).
        "indices.requests.cache.size": "5%",
        # In bytes instead of the default per cents: on a big disk 95 % used is far from full, and then
        # OpenSearch would lock every index. `start` refuses long before these.
        "cluster.routing.allocation.disk.watermark.low": "1500mb",
        "cluster.routing.allocation.disk.watermark.high": "1gb",
        "cluster.routing.allocation.disk.watermark.flood_stage": "500mb",
    }
    if jvm == "laptop":
        # The serial collector leaves garbage until the heap is full. By default that counts, and searches are refused
        # for minutes in which a fifth of the heap is in use.
        settings["indices.breaker.total.use_real_memory"] = False
    # A JSON scalar is a YAML scalar, whatever characters a path has.
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in settings.items())


LOG4J2_PROPERTIES = """status = error
appender.rolling.type = RollingFile
appender.rolling.name = rolling
appender.rolling.fileName = ${sys:opensearch.logs.base_path}${sys:file.separator}node.log
appender.rolling.filePattern = ${sys:opensearch.logs.base_path}${sys:file.separator}node-%i.log.gz
appender.rolling.layout.type = PatternLayout
appender.rolling.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] [%node_name]%marker %m%n
appender.rolling.policies.type = Policies
appender.rolling.policies.size.type = SizeBasedTriggeringPolicy
appender.rolling.policies.size.size = 10MB
appender.rolling.strategy.type = DefaultRolloverStrategy
appender.rolling.strategy.max = 5
rootLogger.level = info
rootLogger.appenderRef.rolling.ref = rolling
"""
"""The text of log4j2.properties: one log, a new file every 10 MB, five old ones kept."""


def java_command(java_home: Path, server: Path, home: Path, *, heap: str, jvm: str) -> list[str]:
    """The command that starts the server.

    `laptop` starts in about 8 s and stays near 400 MB (serial collector, first compiler only); `full` is what
    production runs: G1, both compilers, the heap touched at the start.
    """
    logs = home / "logs"
    return [
        str(java_home / "bin" / "java"),
        *_SYSTEM_OPTIONS,
        *_PROFILES[jvm],
        f"-Xms{heap}",
        f"-Xmx{heap}",
        # Half the heap, as the server's launcher reckons it.
        f"-XX:MaxDirectMemorySize={heap_bytes(heap) // 2}",
        f"-Djava.io.tmpdir={home / 'tmp'}",
        f"-XX:HeapDumpPath={logs}",
        f"-XX:ErrorFile={logs / 'java-crash-%p.log'}",
        f"-javaagent:{server / 'agent' / 'opensearch-agent.jar'}",
        f"-Dopensearch.path.home={server}",
        f"-Dopensearch.path.conf={home / 'config'}",
        "-Dopensearch.distribution.type=zip",
        "-Dopensearch.bundled_jdk=false",
        node_mark(home),
        "-cp",
        f"{server / 'lib'}/*",
        "org.opensearch.bootstrap.OpenSearch",
    ]
