"""Builds the clause of the filter on attachments. Pure.

`mappings.items.attachments` says which tokens the index holds, and why a range of them is exact.
"""

from api.engine.clauses import Clause, any_of
from api.search.schemas.attachments import AttachmentCondition, AttachmentFilter
from mappings.items.attachments import count_token, wear_range


def attachment_clause(condition: AttachmentFilter) -> Clause | None:
    """What an item's attachments must be; None if the filter asks for nothing."""
    clauses = [_condition(attached) for attached in condition.all]
    if condition.any:
        clauses.append(any_of([_condition(attached) for attached in condition.any]))
    count = condition.count
    ends = {} if count is None else {"gte": count.min, "lte": count.max}
    bounds = {name: bound for name, bound in ends.items() if bound is not None}
    if bounds:
        clauses.append({"range": {"attachmentCount": bounds}})
    if not clauses:
        return None
    return clauses[0] if len(clauses) == 1 else {"bool": {"filter": clauses}}


def _condition(attached: AttachmentCondition) -> Clause:
    count = attached.count or 1
    if attached.min_wear is None and attached.max_wear is None:
        return {"term": {"attachments": count_token(attached.name, count)}}
    low = float(attached.min_wear or 0)
    high = 1.0 if attached.max_wear is None else float(attached.max_wear)
    ranked = _between(attached.name, count, low, high)
    # without a lower bound the least worn is within the bounds wherever another is
    return ranked if attached.min_wear is None else any_of([ranked, _between(attached.name, None, low, high)])


def _between(name: str, rank: int | None, low: float, high: float) -> Clause:
    first, last = wear_range(name, rank, low, high)
    return {"range": {"attachments": {"gte": first, "lte": last}}}
