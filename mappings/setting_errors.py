"""Describes invalid settings in one sentence that names each as the environment does."""

from pydantic import ValidationError


def describe_setting_errors(error: ValidationError) -> str:
    sentences = []
    for detail in error.errors():
        setting = f"GEAR_{'_'.join(map(str, detail['loc'])).upper()}"
        sentences.append(f"{setting}: {detail['msg'].removeprefix('Value error, ').removeprefix(f'{setting} ')}")
    return "; ".join(sentences)
