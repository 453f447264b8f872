/** The label of a job's name. Not `job`: Prometheus gives that one to whatever it scrapes, and would rename ours. */
export const JOB_LABEL = 'job_name';
