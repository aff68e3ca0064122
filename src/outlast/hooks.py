"""What a hook is written with: `from outlast.hooks import HookContext, Veto`."""

from outlast.domain.hooks import HOOK_TIMEOUT_SECONDS, Hook, HookContext, Veto

__all__ = ["HOOK_TIMEOUT_SECONDS", "Hook", "HookContext", "Veto"]
