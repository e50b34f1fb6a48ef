"""A plugin of coverage that measures the framework-free modules alone, as the architecture test lists them."""

from coverage import CoveragePlugin
from coverage.plugin_support import Plugins
from coverage.types import TConfigurable

from tests.support.source_code import FILES, MODULES, ROOT, framework_free_modules


class FrameworkFreeModules(CoveragePlugin):
    """Leaves all other modules out; what no test imports counts as not covered."""

    def configure(self, config: TConfigurable) -> None:
        """Sets the files."""
        measured = {MODULES[module] for module in framework_free_modules()}
        config.set_option("run:source", sorted({str(ROOT / file.relative_to(ROOT).parts[0]) for file in measured}))
        config.set_option("run:omit", [str(file) for file in FILES if file not in measured])


def coverage_init(plugins: Plugins, _options: dict[str, str]) -> None:
    """Registers the plugin; coverage calls it by this name."""
    plugins.add_configurer(FrameworkFreeModules())
