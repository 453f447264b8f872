import type { Tone } from '../ui/badge.tsx';

export const USER_TONES: Record<string, Tone> = { invited: 'accent', active: 'good', suspended: 'warn' };
export const INVITATION_TONES: Record<string, Tone> = {
  pending: 'accent',
  accepted: 'good',
  expired: 'warn',
  revoked: 'neutral',
};
export const PROOF_TONES: Record<string, Tone> = {
  pending: 'neutral',
  proven: 'good',
  failing: 'warn',
  failed: 'bad',
};
export const CONNECTION_TONES: Record<string, Tone> = { draft: 'neutral', active: 'good', inactive: 'warn' };
