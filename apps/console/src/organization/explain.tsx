import type { BodyOf, DataOf } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { CircleCheck, CircleX } from 'lucide-react';
import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/form.tsx';
import { Refused } from './refused.tsx';
import { usePermissions } from './use-permissions.ts';

type Question = BodyOf<'post', '/v1/identity/permissions/explain'>;
type Explanation = DataOf<'post', '/v1/identity/permissions/explain'>;

/** Why a principal may do something, or what it lacks. */
export function Explain({ principal }: { principal: Question['principal'] }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const id = useId();
  const permissions = usePermissions();
  const [permission, setPermission] = useState('');
  const explain = useMutation({
    mutationFn: async () => {
      const body = { principal, permission: permission as Question['permission'] };
      return (await api.POST('/v1/identity/permissions/explain', { body })).data;
    },
  });
  const send = (event: FormEvent): void => {
    event.preventDefault();
    explain.mutate();
  };
  return (
    <>
      <form data-keeps-nothing onSubmit={send} className="flex items-end gap-2">
        <div className="grow">
          <TextField
            label={t('permission')}
            list={id}
            required
            placeholder="core.contacts.read"
            value={permission}
            onChange={(event) => {
              setPermission(event.target.value);
              explain.reset();
            }}
          />
          <datalist id={id}>
            {permissions.map(({ permission: name, description }) => (
              <option key={name} value={name}>
                {description}
              </option>
            ))}
          </datalist>
        </div>
        <Button type="submit" busy={explain.isPending}>
          {t('askWhy')}
        </Button>
      </form>
      <Refused error={explain.error} />
      {explain.data !== undefined && <Answered explanation={explain.data} />}
    </>
  );
}

function Answered({ explanation }: { explanation: Explanation }): ReactNode {
  const t = useTranslations('organization');
  const { allowed, restriction, through, missing_because: missing } = explanation;
  const Icon = allowed ? CircleCheck : CircleX;
  const missingKey = `missing.${missing ?? ''}` as 'missing.no_role';
  return (
    <div role="status" className="flex items-start gap-2 rounded-panel bg-ground px-4 py-3">
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${allowed ? 'text-good' : 'text-bad'}`} />
      <div>
        <p className="font-medium">{allowed ? t('allowed') : t('notAllowed')}</p>
        {restriction !== null && <p>{t(`restriction.${restriction}`)}</p>}
        {missing !== null && <p>{t.has(missingKey) ? t(missingKey) : missing}</p>}
        {through.length > 0 && (
          <>
            <p>{t('through')}</p>
            <ul className="list-disc pl-5">
              {through.map(({ role_id: id, role }) => (
                <li key={id}>{role}</li>
              ))}
            </ul>
          </>
        )}
      </div>
    </div>
  );
}
