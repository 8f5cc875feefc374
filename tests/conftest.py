import signal


def pytest_configure():
    """Heed Ctrl-C: a shell that runs tests in the background has them ignore it, and what they start inherits that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
