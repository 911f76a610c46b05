"""Protocols of `spamnb evaluate --online`: which messages are learned after their verdict."""

from dataclasses import dataclass

PROTOCOLS = ("immediate", "delayed", "on-error")  # the rule of each: OnlineProtocol.learns
FIRST_MESSAGES = 1000  # the delayed protocol learns these and no more


@dataclass(frozen=True)
class OnlineProtocol:
    """The rule of a protocol."""

    name: str = "immediate"
    first: int = FIRST_MESSAGES  # messages that "delayed" learns
    margin: float = 0.0  # in nats: "on-error" also learns what was judged right by less than this

    def __post_init__(self) -> None:
        if self.name not in PROTOCOLS:
            raise ValueError(f"no such protocol: {self.name}")

    def learns(self, judged_before: int, is_right: bool, lead: float) -> bool:
        """Whether a message is learned, by how many were judged before it and by its verdict."""
        if self.name == "immediate":  # every message, as soon as it is judged
            return True
        if self.name == "delayed":  # the first messages only, as if nobody had labelled mail since
            return judged_before < self.first
        return not is_right or lead < self.margin  # on-error: wrong or unsure, or right by less than a margin
