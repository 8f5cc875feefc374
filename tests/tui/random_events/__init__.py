"""Random keys, clicks, pastes, resizes and changes of focus, on everything that the apps can show; see `__main__`."""
