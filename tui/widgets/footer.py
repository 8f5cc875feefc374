"""The line of keys at the bottom."""

from __future__ import annotations

from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget


class Footer(Widget):
    """The keys that are bound with `show`, and their descriptions. A click on a key presses it.

    Textual's own footer has a widget for each key and replaces all of them at every change of focus, which lays out
    the whole screen three times.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "Footer { dock: bottom; height: 1; background: $footer-background; }"

    keys: reactive[tuple[tuple[str, str, str], ...]] = reactive(())  # key, its name, its description
    unavailable: reactive[frozenset[str]] = reactive(frozenset())  # actions that have nothing to act on now

    def watch_unavailable(self) -> None:
        """Show only the keys that do something."""
        self._follow(self.screen)

    def on_mount(self) -> None:
        """Subscribe to changes of the screen's bindings."""
        self.auto_links = False  # keys do not look like links
        self.screen.bindings_updated_signal.subscribe(self, self._follow)

    def render(self) -> Content:
        """One line. If it is too long, the space between keys shrinks first; then keys in the middle are left out."""
        keys = list(self.keys)
        while len(keys) > 2 and sum(len(shown) + len(does) + 2 for _, shown, does in keys) > self.size.width:
            del keys[len(keys) // 2]
        roomy = sum(len(shown) + len(does) + 3 for _, shown, does in keys) <= self.size.width
        looks = "bold $footer-key-foreground on $footer-key-background"
        segments: list[Content] = []
        for key, shown, does in keys:
            one = Content.assemble((f" {shown} ", looks), f"{does} " if roomy else does)
            segments.append(one.stylize(Style.from_meta({"@click": f"app.simulate_key({key!r})"})))
        return Content.assemble(*segments)

    def _follow(self, screen: Screen[object]) -> None:
        known: dict[str, tuple[str, str, str]] = {}  # by action: the first key that is bound to it
        declared = [one.action for one in screen.BINDINGS if isinstance(one, Binding)]
        places: dict[str, int] = {}  # Textual lists Tab first, which it binds itself; the screen's own order is better
        for node, binding, _, _ in screen.active_bindings.values():
            if binding.show:
                known.setdefault(binding.action, (binding.key, self.app.get_key_display(binding), binding.description))
                own = declared.index(binding.action) if binding.action in declared else len(declared)
                places.setdefault(binding.action, own if node in (screen, self.app) else -1)
        shown = [action for action in known if action not in self.unavailable]
        self.keys = tuple(known[action] for action in sorted(shown, key=places.__getitem__))
