echo "unit tests pass"
