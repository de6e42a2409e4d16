# Fails unless README.md shows the example file as it is.
file(READ "${README}" readme)
file(READ "${EXAMPLE}" example)
string(FIND "${readme}" "${example}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "README.md does not hold ${EXAMPLE} word for word: copy it into the example block")
endif()
