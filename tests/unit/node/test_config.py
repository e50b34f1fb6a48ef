"""The server is started as its own launcher would, on loopback only, and small enough for a laptop."""

from pathlib import Path

import pytest

from node.process.config import LOG4J2_PROPERTIES, java_command, jvm_options, node_mark, opensearch_yml

JVM_OPTIONS = """
## a comment
-Xms1g
-Xmx1g
8-10:-XX:+UseConcMarkSweepGC
11-:-XX:+UseG1GC
11-:-XX:G1ReservePercent=25
11-:-XX:InitiatingHeapOccupancyPercent=30
-Djava.io.tmpdir=${OPENSEARCH_TMPDIR}
-XX:+HeapDumpOnOutOfMemoryError
-XX:HeapDumpPath=data
8:-Xloggc:logs/gc.log
9-:-Xlog:gc*:file=logs/gc.log
20-:--add-modules=jdk.incubator.vector
21-:-javaagent:agent/opensearch-agent.jar
25-:-XX:+UseCompactObjectHeaders
"""


def command_of(*, heap: str = "512m", jvm: str = "laptop") -> list[str]:
    return java_command(Path("/jre/bin/java"), 25, Path("/server"), Path("/node"), JVM_OPTIONS, heap=heap, jvm=jvm)


@pytest.mark.parametrize(
    ("java", "expected"),
    [
        (8, ["-XX:+UseConcMarkSweepGC", "-Xloggc:logs/gc.log"]),
        (21, ["-XX:+UseG1GC", "-Xlog:gc*:file=logs/gc.log", "-javaagent:agent/opensearch-agent.jar"]),
        (25, ["-XX:+UseG1GC", "-XX:+UseCompactObjectHeaders"]),
    ],
)
def test_options_hold_for_the_java_versions_they_name(java: int, expected: list[str]) -> None:
    options = jvm_options(JVM_OPTIONS, java)
    assert set(expected) <= set(options)
    assert ("-XX:+UseCompactObjectHeaders" in options) == (java >= 25)
    assert ("-XX:+UseConcMarkSweepGC" in options) == (java <= 10)
    assert not [option for option in options if "vector" in option or option.startswith("#")]


def test_an_option_for_one_java_version_is_for_that_one_only() -> None:
    assert jvm_options("8:-XX:+Old\n-XX:+Always\n", 9) == ["-XX:+Always"]


def test_the_laptop_profile_is_small_and_quick() -> None:
    command = command_of()
    assert {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xms512m", "-Xmx512m"} <= set(command)
    assert "-XX:MaxDirectMemorySize=268435456" in command
    assert not [option for option in command if "G1" in option or "AlwaysPreTouch" in option or "Xms1g" in option]


def test_the_full_profile_is_what_production_runs() -> None:
    command = command_of(jvm="full", heap="2g")
    assert {"-XX:+UseG1GC", "-XX:G1ReservePercent=25", "-XX:+AlwaysPreTouch", "-Xmx2g"} <= set(command)
    assert not [option for option in command if "TieredStop" in option or "Serial" in option]


def test_the_command_carries_thai_the_agent_and_the_mark_of_its_directory() -> None:
    command = command_of()
    assert command[0] == "/jre/bin/java"
    assert command[-3:] == ["-cp", "/server/lib/*", "org.opensearch.bootstrap.OpenSearch"]
    assert "-Djava.locale.providers=SPI,CLDR" in command
    assert [option for option in command if "javaagent" in option] == ["-javaagent:/server/agent/opensearch-agent.jar"]
    assert node_mark(Path("/node")) in command
    assert "-Djava.io.tmpdir=/node/tmp" in command


def test_the_node_listens_on_loopback_only_and_makes_no_index_by_itself() -> None:
    lines = opensearch_yml(data=Path("/a b/dätä"), logs=Path("/l"), snapshots=Path("/s"), port=9201).splitlines()
    assert 'network.host: "127.0.0.1"' in lines
    assert "http.port: 9201" in lines
    assert "action.auto_create_index: false" in lines
    assert 'discovery.type: "single-node"' in lines
    assert 'path.data: "/a b/dätä"' in lines
    assert 'path.repo: "/s"' in lines


def test_the_log_cannot_fill_the_disk() -> None:
    text = LOG4J2_PROPERTIES
    assert "policies.size.size = 10MB" in text
    assert "strategy.max = 5" in text
