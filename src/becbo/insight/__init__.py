"""What a campaign has taught so far, as numbers."""

from becbo.insight.insight import Insight, analyze_campaign
from becbo.insight.whatif import Answer, what_if

__all__ = ["Answer", "Insight", "analyze_campaign", "what_if"]
