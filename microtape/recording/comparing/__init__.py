"""What differs between two recordings: of two engines, before and after a change, of two ranks or dtypes.

See the docstring of `microtape.recording` for what each file does.
"""

from microtape.recording.comparing.compare import compare
from microtape.recording.comparing.differences import Comparison, Difference

__all__ = ["Comparison", "Difference", "compare"]
