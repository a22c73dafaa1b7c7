"""What is there, what is missing, and how to mend it: `companion doctor` asks every room without changing anything.

It may know the values of `ports`, the names of serial ports, the settings, the night's files and the panel's pins;
`cli` gives it what only the whole house knows (the running service, the network).
"""
