"""What tests of deploy/ share: the tools of operators, the rendered chart, an API server of Kubernetes."""
