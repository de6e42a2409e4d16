"""What a phase recorded beside its figures: one type a phase. Phases write it, judge and report read it."""
