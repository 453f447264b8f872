import { FieldErrors, Problem, type FieldCode, type FieldError } from '@customer-platform/problem-json';
import { z } from 'zod';
import { checkAddress, checkNewAddress } from '../../vocabulary/addresses/address.js';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { senderOf } from '../../vocabulary/senders/sender.js';
import { tryShape } from '../../vocabulary/shapes/read-shape.js';
import { partsOfChannel, type LocaleParts } from '../../vocabulary/templates/template-content.js';
import type { CreateSendDto } from './send.dto.js';
import type { Category, NamedRecipient } from '../../vocabulary/sends/send.js';

/** A send as asked for, everything checked that the body alone can tell. */
export interface SendRequest {
  readonly channel: Channel;
  readonly recipient: NamedRecipient;
  readonly templateId: string | null;
  readonly content: LocaleParts | null;
  readonly data: Record<string, unknown>;
  readonly locale: string | null;
  readonly category: Category;
  readonly topic: string | null;
  readonly sender: string | null;
  readonly notBefore: Date | null;
  readonly expiresAt: Date | null;
  readonly metadata: Record<string, unknown> | null;
  /**
   * Times that no longer do, or not yet, and a number that is taken no more: what the same body was answered before still
   * stands.
   */
  readonly refusedAnew: readonly FieldError[];
}

const DATA_BYTES = 64 * 1024;
const METADATA_BYTES = 4 * 1024;
const LONGEST_WAIT_MS = 30 * 86_400_000;

const recipientShape = z.strictObject({
  contact_id: z
    .guid()
    .transform((id) => id.toLowerCase())
    .optional(),
  external_id: z.string().min(1).max(200).optional(),
  address: z.string().min(1).max(4_096).optional(),
});

/**
 * Reads the body of a send.
 * @throws Problem `validation_failed`, `invalid_address`, for what is wrong with it at any time
 */
export function readSendRequest(dto: CreateSendDto, now: Date): SendRequest {
  const errors = new FieldErrors();
  const recipient = readRecipient(dto, errors);
  const refusedAnew = [...timeErrors(dto, now), ...newAddressErrors(dto)];
  for (const error of [...contentErrors(dto), ...sizeErrors(dto), ...orderErrors(dto), ...senderErrors(dto)])
    errors.add(error);
  const content = dto.content ? tryShape(partsOfChannel[dto.channel], dto.content, '/content', errors) : null;
  if (errors.total > 0 || recipient === undefined || content === undefined) {
    for (const error of refusedAnew) errors.add(error);
    throw Problem.validation(errors);
  }
  return {
    channel: dto.channel,
    recipient,
    templateId: dto.template_id?.toLowerCase() ?? null,
    content,
    data: dto.data ?? {},
    locale: dto.locale ?? null,
    category: dto.category ?? 'transactional',
    topic: dto.topic ?? null,
    sender: dto.from ?? null,
    notBefore: dateOf(dto.not_before),
    expiresAt: dateOf(dto.expires_at),
    metadata: dto.metadata ?? null,
    refusedAnew,
  };
}

function readRecipient(dto: CreateSendDto, errors: FieldErrors): NamedRecipient | undefined {
  const read = tryShape(recipientShape, dto.recipient, '/recipient', errors);
  if (!read) return undefined;
  const { contact_id, external_id, address } = read;
  const given = [contact_id, external_id, address].filter((value) => value !== undefined);
  if (given.length !== 1) {
    const code = given.length === 0 ? 'required' : 'not_allowed';
    errors.add(fieldError('/recipient', code, 'Exactly one of contact_id, external_id, address.'));
    return undefined;
  }
  if (contact_id !== undefined) return { contact_id: contact_id.toLowerCase() };
  if (external_id !== undefined) return { external_id };
  if (address !== undefined && checkAddress(dto.channel, address)) return { address };
  errors.add(addressError(dto));
  return undefined;
}

function newAddressErrors(dto: CreateSendDto): FieldError[] {
  const { address } = dto.recipient as { address?: unknown };
  const isTaken = typeof address !== 'string' || !checkAddress(dto.channel, address);
  return isTaken || checkNewAddress(dto.channel, address) ? [] : [addressError(dto)];
}

function addressError({ channel }: CreateSendDto): FieldError {
  const detail = `Expected one bare address of the channel ${channel}.`;
  return fieldError('/recipient/address', 'invalid_address', detail);
}

function contentErrors(dto: CreateSendDto): FieldError[] {
  if ((dto.template_id === undefined) !== (dto.content === undefined)) return [];
  return dto.content === undefined
    ? [fieldError('/template_id', 'required', '`template_id` or `content` is required.')]
    : [fieldError('/content', 'not_allowed', '`content` cannot stand beside `template_id`.')];
}

function sizeErrors(dto: CreateSendDto): FieldError[] {
  const tooLong = (value: unknown, most: number): boolean =>
    value !== undefined && Buffer.byteLength(JSON.stringify(value)) > most;
  return [
    ...(tooLong(dto.data, DATA_BYTES)
      ? [fieldError('/data', 'too_long', '`data` is larger than 64 KiB.')]
      : []),
    ...(tooLong(dto.metadata, METADATA_BYTES)
      ? [fieldError('/metadata', 'too_long', '`metadata` is larger than 4 KiB.')]
      : []),
  ];
}

function timeErrors(dto: CreateSendDto, now: Date): FieldError[] {
  const errors: FieldError[] = [];
  const [notBefore, expiresAt] = [dateOf(dto.not_before), dateOf(dto.expires_at)];
  if (notBefore && notBefore.getTime() - now.getTime() > LONGEST_WAIT_MS) {
    errors.push(fieldError('/not_before', 'out_of_range', '`not_before` is more than 30 days ahead.'));
  }
  if (expiresAt && expiresAt <= now) {
    errors.push(fieldError('/expires_at', 'out_of_range', '`expires_at` must be in the future.'));
  }
  return errors;
}

function orderErrors(dto: CreateSendDto): FieldError[] {
  const [notBefore, expiresAt] = [dateOf(dto.not_before), dateOf(dto.expires_at)];
  if (!notBefore || !expiresAt || expiresAt > notBefore) return [];
  return [fieldError('/expires_at', 'out_of_range', '`expires_at` must be after `not_before`.')];
}

function senderErrors({ channel, from }: CreateSendDto): FieldError[] {
  if (from === undefined || senderOf(channel, from)) return [];
  const expected = channel === 'email' ? '`Name <address>` or an address' : 'a sender of the channel';
  return [fieldError('/from', 'invalid_address', `Expected ${expected}.`)];
}

function fieldError(pointer: string, code: FieldCode, detail: string): FieldError {
  return { pointer, code, detail };
}

function dateOf(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(text);
}
