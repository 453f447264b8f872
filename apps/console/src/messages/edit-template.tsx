import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useSay } from '../ui/toasts.tsx';
import { useEdit, type Reading } from '../ui/use-edit.tsx';
import { draftFrom, localesPatch, type Template } from './template.ts';
import { TemplateForm } from './template-form.tsx';
import { useTemplatesChanged } from './use-templates.ts';

/** The form over what a template says. */
export function EditTemplate({ opened }: { opened: Reading<Template> }): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const say = useSay();
  const changed = useTemplatesChanged();
  const [draft, setDraft] = useState(() => draftFrom(opened.data));
  const { id } = opened.data;
  const params = { path: { id } };
  const edit = useEdit({
    opened,
    body: bodyOf(draft),
    bodyOf: (template: Template) => bodyOf(draftFrom(template)),
    read: () => api.GET('/v1/messaging/templates/{id}', { params }),
    write: ({ locales, ...body }, on) =>
      api.PATCH('/v1/messaging/templates/{id}', {
        params,
        // What is sent changes when somebody has seen what that changes, and not before.
        body: { ...body, locales: localesPatch(on.data.locales, locales), publish: false },
        ifMatch: on.etag,
      }),
    nameOf: (field) => t(`templateFields.${field}`),
    onTheirs: (now) => setDraft(draftFrom(now)),
    onSaved: ({ name, version }) => {
      void changed();
      say(t('templateSaved', { name, version }));
    },
  });
  return (
    <TemplateForm
      id={id}
      draft={draft}
      onChange={setDraft}
      onSave={edit.save}
      busy={edit.busy}
      error={edit.error}
      action={t('saveTemplate')}
    >
      {edit.shown}
    </TemplateForm>
  );
}

/** All but what stays as it was made. */
function bodyOf({ kind: _, channel: __, ...body }: ReturnType<typeof draftFrom>) {
  return body;
}
