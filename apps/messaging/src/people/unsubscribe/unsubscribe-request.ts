import { parseJsonBytes } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';

/** How the POST came: as the one click of a mail program, from the page, or from a program. */
export type UnsubscribeForm = 'one_click' | 'page' | 'json';

/** What a POST asks for. */
interface UnsubscribeRequest {
  readonly token: string;
  readonly form: UnsubscribeForm;
}

const ONE_CLICK = ['List-Unsubscribe', 'One-Click'] as const;

/**
 * Reads a POST: RFC 8058 allows both kinds of form, with the token in the address; the page sends its token in a form;
 * programs send JSON.
 * @throws Problem `validation_failed`, `malformed_json`, `malformed_request`, `unsupported_media_type`
 */
export async function readUnsubscribe(
  bytes: Buffer,
  contentType: string | undefined,
  queryToken: string | undefined,
): Promise<UnsubscribeRequest> {
  const [name = ''] = (contentType ?? '').toLowerCase().split(';');
  const kind = name.trim();
  if (bytes.length === 0) return { token: demand(queryToken), form: 'json' };
  if (kind === 'application/json')
    return { token: demand(queryToken ?? tokenOf(parseJsonBytes(bytes))), form: 'json' };
  if (kind !== 'application/x-www-form-urlencoded' && kind !== 'multipart/form-data') {
    throw new Problem('unsupported_media_type', { detail: 'This route takes a form or application/json.' });
  }
  const fields = await formOf(bytes, contentType ?? '');
  const [field, value] = ONE_CLICK;
  const given = fields.get('token');
  const token = demand(queryToken ?? (typeof given === 'string' ? given : undefined));
  return { token, form: fields.get(field) === value ? 'one_click' : 'page' };
}

async function formOf(bytes: Buffer, contentType: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
  } catch (error) {
    throw new Problem('malformed_request', {
      detail: 'The body is not the form it says it is.',
      cause: error,
    });
  }
}

function tokenOf(body: unknown): string | undefined {
  const fields = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  const errors = Object.keys(fields)
    .filter((field) => field !== 'token')
    .map((field) => ({
      pointer: `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      code: 'unknown_field' as const,
      detail: 'There is no such field here: token.',
    }));
  if (errors.length > 0) throw Problem.validation(errors);
  const token = (fields as { token?: unknown }).token;
  if (token !== undefined && typeof token !== 'string')
    throw Problem.validation([{ pointer: '/token', code: 'wrong_type', detail: 'Expected a text.' }]);
  return token;
}

function demand(token: string | undefined): string {
  if (token !== undefined && token !== '') return token;
  throw Problem.validation([
    {
      parameter: 'token',
      code: 'required',
      detail: 'The token of the link is required, in the address or the body.',
    },
  ]);
}
