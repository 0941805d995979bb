"""What a campaign has taught so far, as numbers."""

from becbo.insight.insight import Insight, analyze_campaign

__all__ = ["Insight", "analyze_campaign"]
