"""What this machine is and has: platform, memory, disk, ports, processes, accounts."""
