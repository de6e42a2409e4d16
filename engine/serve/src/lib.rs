//! Servers that the lab itself needs: the null server (the tare) and the delayed echo (the downstream).
