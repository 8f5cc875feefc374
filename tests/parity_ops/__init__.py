"""Operations: one table of calls drives the comparison with torch and the checks that need no torch."""
