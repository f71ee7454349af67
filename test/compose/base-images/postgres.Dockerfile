FROM headway-base/debian
RUN groupadd --gid 999 postgres; useradd --uid 999 --gid postgres postgres; mkdir -p /var/run/postgresql && chmod 1777 /var/run/postgresql
COPY native /opt/postgres
COPY postgres-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
ENV PATH=/opt/postgres/bin:/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
