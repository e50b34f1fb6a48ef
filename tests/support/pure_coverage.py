"""A plugin of coverage that measures the pure modules alone, as the architecture test lists them."""

from coverage import CoveragePlugin
from coverage.plugin_support import Plugins
from coverage.types import TConfigurable

from tests.support.source_code import FILES, MODULES, ROOT, pure_modules


class PureModules(CoveragePlugin):
    """Leaves all other modules out; what no test imports counts as not covered."""

    def configure(self, config: TConfigurable) -> None:
        """Sets the files."""
        pure = {MODULES[module] for module in pure_modules()}
        config.set_option("run:source", sorted({str(ROOT / file.relative_to(ROOT).parts[0]) for file in pure}))
        config.set_option("run:omit", [str(file) for file in FILES if file not in pure])


def coverage_init(plugins: Plugins, _options: dict[str, str]) -> None:
    """Registers the plugin; coverage calls it by this name."""
    plugins.add_configurer(PureModules())
