"""A real Kafka: the server from Maven Central, on the Java runtime that the node has, as one process in KRaft mode."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from jgo.maven import Dependency, MavenContext, PythonResolver

from node.process.lifecycle import folders_of
from node.server.java import find_java_home
from node.settings import read_settings
from tests.support.servers import free_port

VERSION = "4.1.2"
START_SECONDS = 120.0
_QUIET = {"log_level": 0}


@dataclass
class Kafka:
    """A broker, which may be killed and started again with what it has."""

    address: str
    folder: Path
    command: list[str]
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Starts it and waits until it answers."""
        log = self.folder / "log"
        with log.open("ab") as output:
            self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=output, stderr=output)
        _wait(self, self.process, log)

    def kill(self) -> None:
        """Ends it as a power cut would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def topic(self, name: str) -> str:
        """Makes a topic of four partitions; its address for a follower."""
        admin = self.admin()
        admin.create_topics([NewTopic(name, 4, 1)])[name].result()
        return f"kafka://{self.address}/{name}"

    def admin(self) -> AdminClient:
        """What makes topics; it must live as long as what is asked of it."""
        return AdminClient({"bootstrap.servers": self.address, **_QUIET})

    def producer(self) -> Producer:
        """A producer of messages in the order of its calls."""
        return Producer(
            {"bootstrap.servers": self.address, "enable.idempotence": True, "linger.ms": 5, **_QUIET}  # keeps the order
        )

    def committed(self, group: str, topic: str) -> int:
        """How many messages of the topic the group has committed."""
        admin = self.admin()
        (response,) = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
        places: list[TopicPartition] = response.result().topic_partitions
        return sum(place.offset for place in places if place.topic == topic and place.offset > 0)


def _classpath(cache: Path) -> str:
    """The server and all that it needs, fetched once for all."""
    folder = cache / f"kafka-{VERSION}"
    listed = folder / "classpath"
    if not listed.exists():
        folder.mkdir(parents=True, exist_ok=True)
        resolver = PythonResolver()
        context = MavenContext(resolver=resolver, repo_cache=folder)
        server = context.project("org.apache.kafka", "kafka_2.13").at_version(VERSION).artifact()
        _, needed = resolver.resolve([Dependency(server, scope="runtime")])
        artifacts = [server, *(dependency.artifact for dependency in needed if dependency.scope == "runtime")]
        with ThreadPoolExecutor(8) as pool:
            files = [str(file) for file in pool.map(resolver.download, artifacts)]
        listed.write_text(os.pathsep.join(files))
    return listed.read_text()


@contextlib.contextmanager
def running_kafka() -> Iterator[Kafka]:
    """A broker with an empty log, which ends with the context."""
    folders = folders_of(read_settings())
    java = find_java_home(folders, lambda _: None) / "bin" / "java"
    address, controller = (f"127.0.0.1:{free_port()}" for _ in range(2))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "server.properties", _properties(address, controller, folder))
        command = [
            str(java),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            _classpath(folders.cache),
        ]
        options = ["-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", "server.properties", "--standalone"]
        formatted = [*command, "kafka.tools.StorageTool", "format", *options]
        subprocess.run(formatted, cwd=folder, check=True, capture_output=True)
        kafka = Kafka(address, folder, [*command, "kafka.Kafka", "server.properties"])
        try:
            kafka.start()
            yield kafka
        finally:
            kafka.kill()


def _properties(address: str, controller: str, folder: Path) -> dict[str, str]:
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.bootstrap.servers": controller,
        "listeners": f"PLAINTEXT://{address},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{address}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(folder / "data"),
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "1",
        "group.initial.rebalance.delay.ms": "0",
        "auto.create.topics.enable": "false",
    }


def _write(file: Path, properties: Mapping[str, str]) -> None:
    file.write_text("\n".join(f"{name}={value}" for name, value in properties.items()))


def _wait(kafka: Kafka, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = monotonic() + START_SECONDS
    while process.poll() is None and monotonic() < deadline:
        with contextlib.suppress(KafkaException):
            if kafka.admin().list_topics(timeout=1).brokers:
                return
        sleep(0.1)
    pytest.fail(f"Kafka did not start: {log.read_text()[-2000:]}")
