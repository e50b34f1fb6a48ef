"""The server is started as its own launcher would, on loopback only, and small enough for a laptop."""

from pathlib import Path

import pytest

from node.process.config import LOG4J2_PROPERTIES, java_command, node_mark, opensearch_yml


def command_of(*, heap: str = "512m", jvm: str = "laptop") -> list[str]:
    return java_command(Path("/jre"), Path("/server"), Path("/node"), heap=heap, jvm=jvm)


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
    lines = opensearch_yml(
        data=Path("/a b/dätä"), logs=Path("/l"), snapshots=Path("/s"), port=9201, jvm="full"
    ).splitlines()
    assert 'network.host: "127.0.0.1"' in lines
    assert "http.port: 9201" in lines
    assert "action.auto_create_index: false" in lines
    assert 'discovery.type: "single-node"' in lines
    assert 'path.data: "/a b/dätä"' in lines
    assert 'path.repo: "/s"' in lines


@pytest.mark.parametrize(("jvm", "counts_garbage"), [("laptop", False), ("full", True)])
def test_garbage_refuses_no_search_where_the_collector_lets_it_lie(jvm: str, counts_garbage: bool) -> None:
    text = opensearch_yml(data=Path("/d"), logs=Path("/l"), snapshots=Path("/s"), port=9201, jvm=jvm)
    assert ("indices.breaker.total.use_real_memory: false" not in text) is counts_garbage


def test_the_log_cannot_fill_the_disk() -> None:
    text = LOG4J2_PROPERTIES
    assert "policies.size.size = 10MB" in text
    assert "strategy.max = 5" in text
