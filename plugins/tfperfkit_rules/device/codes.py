"""The codes of the devices findings. A code is stable and never reused; each has a page ``docs/findings/<code>.md``."""

from __future__ import annotations

GPU_UNUSED = "DEV001"
NO_SUCH_DEVICE = "DEV002"
COPIES = "DEV003"
HOST_SYNC = "SYN001"

#: What each code means, without numbers or names: the heading of its page.
TITLES = {
    GPU_UNUSED: "A GPU is in the machine and TensorFlow does not use it",
    NO_SUCH_DEVICE: "Operations ask for a device that does not exist",
    COPIES: "Tensors go from one device to another in every step",
    HOST_SYNC: "Python waits for the value of a tensor in every step",
}
