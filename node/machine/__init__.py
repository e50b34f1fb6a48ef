"""What this machine is and has: platform, memory, disk, ports, processes, accounts. A new fact about the machine goes
here.
"""
