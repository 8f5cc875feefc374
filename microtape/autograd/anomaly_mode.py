"""torch's `autograd.anomaly_mode` namespace."""

from microtape.transforms.anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
