"""The pinned files, each with its size and SHA-256.

The coordinates are those of Maven repositories. The two ICU files give the Java runtime the Thai word
segmentation that it lacks and without which OpenSearch refuses to create any index.
"""

from dataclasses import dataclass

OPENSEARCH_VERSION = "3.6.0"


@dataclass(frozen=True)
class PinnedFile:
    """One file to fetch: `group:name:version` and packaging, `size` in bytes, `sha256` in lower-case hex."""

    group: str
    name: str
    version: str
    packaging: str
    size: int
    sha256: str

    @property
    def coordinates(self) -> str:
        """`group:name:version`, as people write it."""
        return f"{self.group}:{self.name}:{self.version}"

    @property
    def filename(self) -> str:
        """The name of the file in a repository and in the cache."""
        return f"{self.name}-{self.version}.{self.packaging}"


SERVER = PinnedFile(
    group="org.opensearch.distribution.integ-test-zip",
    name="opensearch",
    version=OPENSEARCH_VERSION,
    packaging="zip",
    size=161_609_640,
    sha256="a91faa1dc1cadc78cb278b4f63847e19e1627a4e9de698e14e7efc14ee37b286",
)
LIBRARIES = (
    PinnedFile(
        group="com.ibm.icu",
        name="icu4j",
        version="77.1",
        packaging="jar",
        size=14_663_227,
        sha256="b3640b9f416a4411fd33c59abbeea8fd57d024c23e1819bf9673220a97499fe3",
    ),
    PinnedFile(
        group="com.ibm.icu",
        name="icu4j-localespi",
        version="77.1",
        packaging="jar",
        size=50_797,
        sha256="77d0da4f10c6158174cc3dafbb51356031a09e0fcaaf0432330afb4fb552cac9",
    ),
)
PINNED_FILES = (SERVER, *LIBRARIES)

UNPACKED_BYTES = 230_000_000
"""Disk that the unpacked server with its libraries takes (measured: 219 MB), rounded up."""
