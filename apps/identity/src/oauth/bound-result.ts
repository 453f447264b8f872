import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { InteractionResults } from 'oidc-provider';
import { BrowserBinding } from '../pages/browser-binding.js';

/** The part of a sign-in's result that binds it to the browser in which somebody has authenticated. */
export function boundTo({ hash }: BrowserBinding): { browser: string } {
  return { browser: hash.toString('base64url') };
}

/** Whether what a sign-in has led to is for the browser that asks: its address alone signs nobody in. */
export function isFor(
  result: InteractionResults | undefined,
  request: IncomingMessage,
  uid: string,
): boolean {
  if (!result?.login) return true;
  const asks = Buffer.from(BrowserBinding.of(request, uid)?.hash.toString('base64url') ?? '');
  const bound = Buffer.from(String(result['browser']));
  return asks.length === bound.length && timingSafeEqual(asks, bound);
}
