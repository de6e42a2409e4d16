"""What a phase recorded next to its figures: one type a phase. Phases write it, judge and report read it."""
