print("usage: nothing to see")
