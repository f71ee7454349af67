FROM headway-base/debian
COPY nats-server /usr/local/bin/nats-server
RUN ln -sf "$(command -v busybox)" /usr/local/bin/wget
ENTRYPOINT ["nats-server"]
CMD ["--config", "/etc/nats/nats-server.conf"]
