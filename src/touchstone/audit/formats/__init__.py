"""One file a published format; `read.py` tells them apart."""
