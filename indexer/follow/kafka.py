"""Changes from a Kafka topic: key = id, value = item or nothing where it is deleted, time = when it changed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from indexer.documents.refusal import ItemRefusedError, Refusal, shortened
from indexer.errors import CommandError
from indexer.follow.stream import Message, Stream
from indexer.live.change import Change, ReadChange, RefusedChange, checked_version, delete_of, upsert_of
from mappings.items.item import MAX_INTEGER, MIN_INTEGER
from mappings.platforms import Platform

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError
    from confluent_kafka import Message as KafkaMessage

SCHEME = "kafka://"
START_SECONDS = 30.0
MAX_KEY_BYTES = 20  # of a number of 64 bits in decimal with its sign
_OWN = ("bootstrap.servers", "group.id", "enable.auto.commit", "enable.auto.offset.store")


def parse_address(address: str) -> tuple[str, str]:
    """The brokers and the topic of `kafka://host:port[,host:port]/topic`; raises CommandError."""
    try:
        parts = urlsplit(address)
    except ValueError:  # of brackets that do not close
        parts = urlsplit("")
    topic = parts.path.strip("/")
    if not parts.netloc or not topic or "/" in topic or parts.query or "@" in parts.netloc:
        raise CommandError(f"{address}: must be kafka://host:port/topic, with several brokers separated by commas")
    return parts.netloc, topic


@dataclass
class KafkaStream(Stream):
    """The partitions of a topic that a consumer group assigns to this follower."""

    address: str
    group: str
    platform: Platform
    properties: Mapping[str, str] = field(repr=False)
    max_pause: float  # seconds between two reads, at most
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        brokers, self._topic = parse_address(self.address)
        self.name = f"{SCHEME}{brokers}/{self._topic}"
        self._outage = ""
        self._offsets: dict[int, int] = {}  # by partition, the first that is not read; not committed yet
        self._consumer = self._connected(brokers)

    def _connected(self, brokers: str) -> "Consumer":
        try:
            from confluent_kafka import Consumer, KafkaException
        except ImportError as error:
            message = "reading a Kafka topic needs the extra: pip install '.[kafka]' in the checkout"
            raise CommandError(message) from error
        if own := [name for name in _OWN if name in self.properties]:
            raise CommandError(f"{own[0]} is set by the command itself: leave it out of the properties")
        try:
            consumer = Consumer(
                {
                    "auto.offset.reset": "earliest",
                    "partition.assignment.strategy": "cooperative-sticky",
                    "session.timeout.ms": 10_000,
                    "max.poll.interval.ms": round(self.max_pause * 1000),
                    "queued.max.messages.kbytes": 16_384,
                    "fetch.wait.max.ms": 100,
                    "log_level": 2,  # what is wrong with the brokers is said once, by us
                    **self.properties,
                    "bootstrap.servers": brokers,
                    "group.id": self.group,
                    "enable.auto.commit": False,
                    "error_cb": self._failed,
                }
            )
            metadata = consumer.list_topics(self._topic, timeout=START_SECONDS).topics[self._topic]
        except (KafkaException, ValueError, TypeError) as error:
            raise CommandError(f"{self.name} cannot be read: {_text(error)}") from error
        if metadata.error is not None:
            consumer.close()
            raise CommandError(f"{self.name} cannot be read: {metadata.error.str()}")
        consumer.subscribe([self._topic])
        return consumer

    def read(self, max_messages: int, seconds: float) -> Sequence[Message]:
        messages = []
        for received in self._consumer.consume(max_messages, timeout=seconds):
            error = received.error()
            if error is not None:
                if error.fatal():
                    raise CommandError(f"{self.name} cannot be read: {error.str()}")
                self._failed(error)
                continue
            self._outage = ""
            # a message that was read has both
            self._offsets[cast(int, received.partition())] = cast(int, received.offset()) + 1
            messages.append(self._message(received))
        return messages

    def _message(self, message: "KafkaMessage") -> Message:
        source = f"{self.name}[{message.partition()}]"
        offset = cast(int, message.offset())
        number = _id_of(message.key())
        try:
            return ReadChange(source, offset, _change_of(message, number, self.platform))
        except ItemRefusedError as error:
            return RefusedChange(source, offset, number, error.refusals)

    def commit(self) -> None:
        """Commits what was read. Where the group has given the partitions to another, that one reads them again."""
        from confluent_kafka import KafkaException, TopicPartition

        offsets = [TopicPartition(self._topic, partition, offset) for partition, offset in self._offsets.items()]
        self._offsets = {}
        if offsets:
            try:
                self._consumer.commit(offsets=offsets, asynchronous=False)
            except KafkaException as error:
                self.say(f"{self.name}: the position was not committed, and is read again ({_text(error)})")

    def lag(self) -> int:
        """The messages of the assigned partitions that are not read yet, by what the brokers said last."""
        lag = 0
        for place in self._consumer.position(self._consumer.assignment()):
            _, end = self._consumer.get_watermark_offsets(place, cached=True)
            if place.offset >= 0 and end >= 0:
                lag += max(0, end - place.offset)
        return lag

    def close(self) -> None:
        """Leaves the group, so that others take over at once."""
        self._consumer.close()

    def _failed(self, error: "KafkaError") -> None:
        if error.str() != self._outage:
            self._outage = error.str()
            self.say(f"{self.name}: {self._outage}; waiting for it to end")


def _change_of(message: "KafkaMessage", number: int | None, platform: Platform) -> Change:
    if number is None:
        reason = "must be the id of the item, a whole number in decimal"
        raise ItemRefusedError((Refusal("key", shortened(message.key()), reason),))
    value: Any = message.value()
    change = delete_of({"id": number}) if value is None else upsert_of(value, platform)
    if change.id != number:
        raise ItemRefusedError((Refusal("key", str(number), f"must be the id of the item, {change.id}"),))
    kind, milliseconds = message.timestamp()
    if change.is_dated or not kind:  # an item that states its own time has it
        return change
    return change._replace(version=checked_version(milliseconds * 1000))


def _id_of(key: bytes | None) -> int | None:
    """The id that a key is; None where it is none."""
    if key is None or not key.removeprefix(b"-").isdigit() or len(key) > MAX_KEY_BYTES:
        return None
    number = int(key)
    return number if MIN_INTEGER <= number <= MAX_INTEGER else None


def _text(error: Exception) -> str:
    return str(getattr(error.args[0], "str", lambda: error)()) if error.args else str(error)
