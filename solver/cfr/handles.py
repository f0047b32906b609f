# ruff: noqa: ARG001
"""Groups of arrays that compiled code takes as one pointer.

Numba passes a tuple of arrays as seven values per array, in every call: with dozens of arrays most of the compile
time goes into that. A `Handle` is a pointer to the addresses and shapes of the arrays; kernels read
``handle.name`` as they would read the field of a named tuple. The arrays must outlive the call, which the handle sees
to: it holds them.
"""

from __future__ import annotations

from hashlib import blake2s
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)
from numba.np.arrayobj import get_itemsize, make_array, populate_array

_WORD = ir.IntType(64)


class HandleType(types.Type):
    """Numba type of a `Handle`: the array type of each field."""

    def __init__(self, label: str, fields: dict[str, types.Array]) -> None:
        self.fields = fields
        self.starts: dict[str, int] = {}
        start = 0
        for field, array in fields.items():
            self.starts[field] = start
            start += 1 + array.ndim
        # Names become part of every symbol: a digest keeps them short.
        digest = blake2s(repr([(f, str(a)) for f, a in fields.items()]).encode(), digest_size=6)
        super().__init__(name=f"{label}_{digest.hexdigest()}")


class Handle:
    """The arrays of a named tuple, for kernels.

    Parameters
    ----------
    arrays
        Named tuple of C-contiguous arrays.
    """

    def __init__(self, arrays: Any) -> None:
        fields = arrays._asdict()
        for name, array in fields.items():
            if not array.flags.c_contiguous:
                raise ValueError(f"{name}: the array is not contiguous")
        self.arrays = arrays
        words = [word for array in arrays for word in (array.ctypes.data, *array.shape)]
        self._words = np.array(words, dtype=np.int64)
        self.address = self._words.ctypes.data
        label = type(arrays).__name__
        self._numba_type_ = HandleType(label, {name: typeof(array) for name, array in fields.items()})


@register_model(HandleType)
class _HandleModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: HandleType) -> None:
        super().__init__(dmm, fe_type, _WORD.as_pointer())


@unbox(HandleType)
def _unbox_handle(kind: HandleType, handle: Any, c: Any) -> NativeValue:
    attribute = c.pyapi.object_getattr_string(handle, "address")
    address = c.pyapi.long_as_longlong(attribute)
    c.pyapi.decref(attribute)
    return NativeValue(c.builder.inttoptr(address, _WORD.as_pointer()))


@infer_getattr
class _Fields(AttributeTemplate):
    key = HandleType

    def generic_resolve(self, handle: HandleType, name: str) -> types.Array | None:
        return handle.fields.get(name)


@lower_getattr_generic(HandleType)
def _read_field(context: Any, builder: Any, kind: HandleType, handle: Any, name: str) -> Any:
    array_type = kind.fields[name]

    def word(k: int) -> Any:
        place = builder.gep(handle, [ir.Constant(ir.IntType(32), kind.starts[name] + k)])
        value = builder.load(place)
        # Nothing writes to the words of a handle, so loops need not read them again.
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    array = make_array(array_type)(context, builder)
    shape = [word(1 + axis) for axis in range(array_type.ndim)]
    stride = ir.Constant(_WORD, get_itemsize(context, array_type))
    strides = [stride]
    for size in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], size))
    populate_array(
        array,
        data=builder.inttoptr(word(0), array.data.type),
        shape=shape,
        strides=strides,
        itemsize=stride,
        meminfo=None,
    )
    return array._getvalue()
