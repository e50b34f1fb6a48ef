# The service and its commands in one image: gear-api, gear-indexer, and the catalogue that `gear-indexer sample` reads.
#
#   docker build -t gear:local .
#
# It needs no syntax line and no BuildKit feature, so every engine and builder of recent years can build it.

# By digest for a release: --build-arg PYTHON_IMAGE=python:3.11-slim-bookworm@sha256:…
ARG PYTHON_IMAGE=python:3.11-slim-bookworm
FROM ${PYTHON_IMAGE} AS build
# The time of the commit, for files that are made here; `make image` sets it.
ARG SOURCE_DATE_EPOCH
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /build

# The environment gets no pip of its own: what runs later cannot install anything.
RUN python -m venv --without-pip /opt/gear

# Dependencies first: this layer changes with the lock only. Wheels alone, so no compiler is needed here.
COPY requirements.txt ./
RUN python -m pip --python /opt/gear/bin/python install --no-deps --require-hashes --only-binary :all: -r requirements.txt

# The tool that makes the project's own wheel comes from the lock as well, into an environment that is left behind.
COPY requirements-dev.txt ./
RUN python -m venv /build/tools \
    && awk '/^setuptools==/ {found = 1} found {print} found && !/\\$/ {exit}' requirements-dev.txt > setuptools.txt \
    && /build/tools/bin/python -m pip install --require-hashes --only-binary :all: -r setuptools.txt

COPY pyproject.toml README.md LICENSE ./
COPY mappings mappings
COPY store store
COPY node node
COPY indexer indexer
COPY api api
# gear-node runs an engine without containers: in here it has neither its dependencies nor a use.
RUN /build/tools/bin/python -m pip wheel --no-index --no-deps --no-build-isolation --wheel-dir wheels . \
    && python -m pip --python /opt/gear/bin/python install --no-index --no-deps wheels/gear-*.whl \
    && rm /opt/gear/bin/gear-node

# Readable by everybody, whatever the checkout's own permissions are.
COPY data data
RUN chmod -R a+rX data LICENSE


FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="gear" \
      org.opencontainers.image.description="Search and orders for single in-game items, on OpenSearch and SQL" \
      org.opencontainers.image.licenses="Apache-2.0"

# A number that no other image of the compose file uses, fixed so that files of a mounted volume keep their owner.
RUN groupadd --system --gid 10001 gear \
    && useradd --system --uid 10001 --gid gear --home-dir /var/lib/gear --create-home --shell /usr/sbin/nologin gear

COPY --from=build /opt/gear /opt/gear
COPY --from=build /build/LICENSE /usr/share/doc/gear/
COPY --from=build /build/data /usr/share/gear

# A fixed threshold lets the C library give freed memory back: a worker keeps a tenth less (docs/benchmarks.md, Memory).
ENV MALLOC_MMAP_THRESHOLD_=131072

# All interfaces, because a container's loopback reaches nobody; who may reach it is decided where the port is published.
ENV PATH=/opt/gear/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    GEAR_API_HOST=0.0.0.0 \
    GEAR_API_PORT=8000
USER 10001:10001
WORKDIR /var/lib/gear
EXPOSE 8000
CMD ["gear-api", "serve"]
