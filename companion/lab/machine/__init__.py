"""A whole emulated machine: aarch64, its own kernel, a real systemd, a disk: `make machine`."""
