"""Which interpreter of the process this is."""


def is_main() -> bool:
    """Whether it is the main one. Extension modules as this one share objects with all interpreters of a process."""
    try:
        import _interpreters as interpreters  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            import _xxsubinterpreters as interpreters  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            return True
    # Newer versions say a number and more, older ones an object that is one.
    current, main = ([*found][0] if isinstance(found, tuple) else int(found) for found in (interpreters.get_current(), interpreters.get_main()))
    return bool(current == main)
