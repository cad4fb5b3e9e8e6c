"""The probe ``tfprof``: a few steps under the TF Profiler."""
