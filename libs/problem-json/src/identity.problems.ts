import { define } from './problem-definition.js';

/** Codes of the identity module. */
export const identityProblems = define({
  account_exists: [
    400,
    'Account exists',
    'The invited person has an account already, so no password is taken.',
    'Accept the invitation without a password.',
  ],
  sign_in_required: [
    401,
    'Sign in required',
    'The invited address has an account, and the call does not carry an access token of that user.',
    'Sign in as the invited person and repeat the call with that access token.',
  ],
  ancestor_required: [
    403,
    'Ancestor required',
    'Only an organization above may do this.',
    'Ask an administrator of the organization above.',
  ],
  fresh_sign_in_required: [
    403,
    'Fresh sign-in required',
    'The call takes a session whose user has authenticated within the last ten minutes.',
    'Sign in again (`prompt=login`), or verify a code of a second factor, and repeat the call.',
  ],
  single_sign_on_required: [
    403,
    'Single sign-on required',
    'The user signs in by a provider of their organization, and chooses no password here.',
    'Sign in by the provider. Where it is not the only way in, a password is chosen by the mail of a reset.',
  ],
  user_not_managed: [
    403,
    'User not managed here',
    'The user belongs to another organization or is active in one.',
    'End the membership instead, or ask the organization the user belongs to.',
  ],
  user_required: [
    403,
    'User required',
    'The route concerns the calling user, and the credential is not a user’s.',
    'Call it with the access token of a user.',
  ],
  has_children: [
    409,
    'Has children',
    'The organization has active organizations below it.',
    'Delete those first.',
  ],
  built_in_role: [
    409,
    'Built-in role',
    'Built-in roles follow the registry and take no change.',
    'Create a role of your own.',
  ],
  role_kind_mismatch: [
    409,
    'Role of another kind',
    'Human roles are assigned to members, machine roles to keys and clients.',
    'Choose a role of the fitting kind.',
  ],
  domain_unverified: [
    409,
    'Domain unverified',
    'The ownership of a domain is not proven.',
    'Publish the DNS record shown for the domain, then repeat the call.',
  ],
  current_password_invalid: [
    422,
    'Wrong password',
    'The present password is another one.',
    'Send the present password, or ask for a new one by mail.',
  ],
  mfa_code_invalid: [
    422,
    'Invalid code',
    'The code is wrong, too late or used before.',
    'Send the current code; each works once.',
  ],
});
