"""The state of a module as a dictionary: parameters and buffers by their path, as in `encoder.layers.3.weight`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from microtape.nn.parameter import Parameter
from microtape.nn.registry import Registry
from microtape.tape.grad_mode import no_grad
from microtape.tape.tangents import one_write
from microtape.tensors.tensor import Tensor


class IncompatibleKeys(NamedTuple):
    """The paths that a state dict lacks, and those that the module lacks."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"


class _StateDict(OrderedDict[str, Any]):
    """A state dict; `_metadata` has the version of each module's format, as in torch."""

    _metadata: OrderedDict[str, dict[str, Any]]


class Stateful(Registry):
    """Common: how the state of a `Module` is taken and loaded."""

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """The parameters and persistent buffers by path, with `prefix` before it.

        The tensors share the module's memory, and have no history unless `keep_vars`. `destination` is a dictionary to
        add them to.
        """
        if destination is None:
            destination = _StateDict()
            destination._metadata = OrderedDict()
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = {"version": self._version}
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return destination  # type: ignore[no-any-return]

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Add what this module itself registers; a subclass may add more."""
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()

    def _own_state(self) -> dict[str, Any]:
        """The parameters and the persistent buffers of this module itself."""
        kept = {name: one for name, one in self._buffers.items() if name not in self._non_persistent_buffers_set}
        return {name: one for name, one in [*self._parameters.items(), *kept.items()] if one is not None}

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy the tensors of a state dict into the parameters and buffers; with `assign` they take their place.

        Returns the missing and the unexpected keys. Raises TypeError for what is no dictionary, RuntimeError that lists
        all tensors of a wrong size and, if `strict`, all missing and unexpected keys.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        keys = IncompatibleKeys([], [])
        errors: list[str] = []
        self._load(dict(state_dict), "", getattr(state_dict, "_metadata", None) or {}, assign, keys, errors)
        if strict:
            for kind, found in (("Missing", keys.missing_keys), ("Unexpected", keys.unexpected_keys)):
                if found:
                    names = ", ".join(f'"{key}"' for key in found)
                    errors.insert(
                        kind == "Unexpected" and bool(keys.missing_keys), f"{kind} key(s) in state_dict: {names}. "
                    )
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return keys

    def _load(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        versions: Mapping[str, Any],
        assign: bool,
        keys: IncompatibleKeys,
        errors: list[str],
    ) -> None:
        metadata = dict(versions.get(prefix[:-1], {}), assign_to_params_buffers=assign)
        self._load_from_state_dict(state_dict, prefix, metadata, True, keys.missing_keys, keys.unexpected_keys, errors)
        for name, module in self._modules.items():
            if module is not None:
                inside = f"{prefix}{name}."
                part = {key: value for key, value in state_dict.items() if key.startswith(inside)}
                module._load(part, inside, versions, assign, keys, errors)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: Mapping[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load what this module itself registers; a subclass may change `state_dict` first, as in torch."""
        state = self._own_state()
        for name, tensor in state.items():
            key = prefix + name
            if key not in state_dict:
                missing_keys.append(key)
            elif error := self._load_tensor(name, tensor, key, state_dict[key], local_metadata):
                error_msgs.append(error)
        for key in state_dict:
            name, *within = key.removeprefix(prefix).split(".", 1)
            if key.startswith(prefix) and name not in (self._modules if within else state):
                unexpected_keys.append(key)

    def _load_tensor(
        self, name: str, tensor: Tensor, key: str, loaded: Any, local_metadata: Mapping[str, Any]
    ) -> str | None:
        """Load one tensor. Returns the reason if that is impossible."""
        if not isinstance(loaded, Tensor):
            return (
                f'While copying the parameter named "{key}", expected microtape.Tensor or Tensor-like object from '
                f"checkpoint but received {type(loaded)}"
            )
        if tensor.shape == () and loaded.shape == (1,):
            loaded = loaded[0]
        if loaded.shape != tensor.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {loaded.shape} from checkpoint, the shape in "
                f"current model is {tensor.shape}."
            )
        with no_grad():
            if not local_metadata.get("assign_to_params_buffers"):
                one_write("load_state_dict", tensor, tensor.copy_, loaded, source=loaded)
            elif isinstance(tensor, Parameter) and not isinstance(loaded, Parameter):
                setattr(self, name, Parameter(loaded, tensor.requires_grad))
            else:
                setattr(self, name, loaded.requires_grad_(tensor.requires_grad))
        return None
