"""What differs between the processes of one run: what should be equal on all ranks, and what only some of them have.

See the docstring of `microtape.recording` for what each file does.
"""

from microtape.recording.ranks.find import rank_findings
from microtape.recording.ranks.group import Ranks

__all__ = ["Ranks", "rank_findings"]
