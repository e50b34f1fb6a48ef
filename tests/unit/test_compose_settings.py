"""docker-compose.yml hands every setting of the API to its container, so that `.env` can name it."""

from pathlib import Path

import yaml

from api.settings import Settings

ROOT = Path(__file__).parents[2]
# What the file decides by itself: its engine has no login, its database one login, the platforms are in the image.
DECIDED = {
    "opensearch_url_file",
    "opensearch_username",
    "opensearch_password",
    "opensearch_password_file",
    "opensearch_ca_certs",
    "database_url_file",
    "database_password",
    "database_password_file",
    "platform_files",
    "prometheus_multiproc_dir",  # `serve` makes one for its workers
}


def test_every_setting_of_the_api_reaches_its_container() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    settable = {f"GEAR_{name.upper()}" for name in Settings.model_fields if name not in DECIDED}
    assert settable <= set(services["api"]["environment"])
