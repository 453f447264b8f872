import type { RenderFailureReason } from './render-job.js';

/** A template that gave no text, for a reason its author can act on. */
export class RenderFailure extends Error {
  constructor(readonly reason: RenderFailureReason) {
    super(reason.detail);
    this.name = 'RenderFailure';
  }
}
