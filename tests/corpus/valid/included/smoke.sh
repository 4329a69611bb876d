echo "smoke on $PORT"
