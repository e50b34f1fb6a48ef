"""What tests run beside the service: receivers, Redis, wires with faults, certificates, processes."""
