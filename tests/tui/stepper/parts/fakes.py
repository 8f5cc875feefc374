"""A stepper without a screen: what a part of it needs, and what the part has done with it."""

from contextlib import contextmanager

from tui.shell.key_names import KeyNames
from tui.time.cursor import StepCursor


class FakeTimer:
    def __init__(self, seconds, callback):
        self.seconds, self.callback, self.is_running = seconds, callback, True

    def stop(self):
        self.is_running = False


class FakeApp:
    def __init__(self):
        self.pages = []  # with what is called when they close
        self.notices_cleared = False

    def push_screen(self, page, then=None):
        self.pages.append((page, then))

    def clear_notifications(self):
        self.notices_cleared = True

    @contextmanager
    def batch_update(self):
        yield


class FakeStepper:
    """Remembers what a part did. What is to happen later happens when the test says so, or at once: `call_later`."""

    def __init__(self, recording, *widgets, keys=None):
        self.app = FakeApp()
        self.ascii = False
        self.focused = None
        self.parts = []
        self.notices, self.timers, self.classes = [], [], set()
        self.banner = ""
        self.changes = 0
        self.was_stopped = False
        self.key_names = KeyNames(keys or {})
        self._widgets = widgets
        self._cursor = StepCursor.open(recording)

    def add(self, part):
        """Let a part follow the cursor, as the screen does."""
        self.parts.append(part)
        part.follow(None, self.cursor)
        return part

    @property
    def cursor(self):
        return self._cursor

    @cursor.setter
    def cursor(self, new):
        old, self._cursor = self._cursor, new
        for part in self.parts:
            part.follow(old, new)

    @property
    def page(self):
        """The page that was opened last."""
        return self.app.pages[-1][0]

    def close_page(self, result):
        self.app.pages.pop()[1](result)

    def key(self, action):
        return f"<{action}>"

    def changed(self):
        self.changes += 1

    def stop_playing(self):
        self.was_stopped = True

    def say_above(self, text, *, bad=False):
        self.banner = text

    def notify(self, message, **_):
        self.notices.append(message)

    def query_one(self, wanted, expected=None):
        if isinstance(wanted, str):
            return next(one for one in self._widgets if f"#{one.id}" == wanted)
        return next(one for one in self._widgets if isinstance(one, wanted) or type(one).__name__ == wanted.__name__)

    def set_class(self, add, *names):
        (self.classes.update if add else self.classes.difference_update)(names)

    def set_focus(self, widget):
        self.focused = widget

    def refresh_bindings(self):
        pass

    def set_timer(self, seconds, callback):
        self.timers.append(FakeTimer(seconds, callback))
        return self.timers[-1]

    set_interval = set_timer

    def call_later(self, callback, *arguments):
        callback(*arguments)
        return True

    def run_worker(self, work, *, thread):
        work()


class FakeBackground:
    """Does everything at once."""

    doing = ""

    def __init__(self):
        self.was_stopped = False

    def start(self, work, *arguments):
        work(*arguments)

    def prepared(self, what, prepare, then):
        prepare()
        return True

    def stop(self):
        self.was_stopped = True
        return False
